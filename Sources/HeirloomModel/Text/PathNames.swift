extension StringProtocol {
  /// Splits even before a combining mark.
  ///
  /// Swift compares characters: if a name from a file begins with a combining accent, the `.`
  /// before it and the accent are one character, which isn't equal to `.`.
  package func names(
    separatedBy separator: Unicode.Scalar, omittingEmptySubsequences: Bool = false
  ) -> [Substring] {
    String(self).unicodeScalars.split(
      separator: separator, omittingEmptySubsequences: omittingEmptySubsequences
    ).map(Substring.init)
  }
}
