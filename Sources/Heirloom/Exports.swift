@_exported public import HeirloomFormats
@_exported public import HeirloomMapping
@_exported public import HeirloomMigration
@_exported public import HeirloomModel
@_exported public import HeirloomStore
@_exported public import HeirloomVault
