extension StringProtocol {
  /// Splits a path at a separator, also where a mark that follows makes one character of both.
  ///
  /// Names come from outside, and Swift compares characters: in `a.` and a name that begins with an accent there is no `.` for it.
  ///
  /// - Parameters:
  ///   - separator: The separator.
  ///   - omittingEmptySubsequences: Whether empty names are left out.
  /// - Returns: The names.
  package func names(
    separatedBy separator: Unicode.Scalar, omittingEmptySubsequences: Bool = false
  ) -> [Substring] {
    String(self).unicodeScalars.split(
      separator: separator, omittingEmptySubsequences: omittingEmptySubsequences
    ).map(Substring.init)
  }
}
