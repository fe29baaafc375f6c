// `String(validating:as:)` requires iOS 18.
extension String {
  @inlinable
  package init?(wellFormedUTF8 bytes: some Collection<UInt8>) {
    // Decoding repairs invalid UTF-8, which changes the bytes.
    var text = String(decoding: bytes, as: UTF8.self)
    guard text.withUTF8({ $0.elementsEqual(bytes) }) else { return nil }
    self = text
  }

  /// `nil` if a surrogate is unpaired.
  package init?(wellFormedUTF16 units: [UInt16]) {
    var isAfterLead = false
    for unit in units {
      guard UTF16.isTrailSurrogate(unit) == isAfterLead else { return nil }
      isAfterLead = UTF16.isLeadSurrogate(unit)
    }
    guard !isAfterLead else { return nil }
    self.init(decoding: units, as: UTF16.self)
  }
}
