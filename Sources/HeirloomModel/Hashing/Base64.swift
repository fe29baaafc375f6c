extension Collection<UInt8> {
  /// RFC 4648 §4, with padding.
  package var base64: String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".unicodeScalars)
    var text = String.UnicodeScalarView()
    var bytes = makeIterator()
    while let first = bytes.next() {
      let second = bytes.next()
      let third = second == nil ? nil : bytes.next()
      let group = Int(first) << 16 | Int(second ?? 0) << 8 | Int(third ?? 0)
      text.append(alphabet[group >> 18])
      text.append(alphabet[group >> 12 & 63])
      text.append(second == nil ? "=" : alphabet[group >> 6 & 63])
      text.append(third == nil ? "=" : alphabet[group & 63])
    }
    return String(text)
  }
}
