@_exported public import HeirloomTesting
