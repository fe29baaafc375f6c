// Linux's Foundation, which on Apple's platforms holds the XML parser too.
@_exported import Foundation
@_exported import FoundationXML
