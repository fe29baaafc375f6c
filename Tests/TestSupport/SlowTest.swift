package import Testing

/// The reason why a test takes more than 5 s in the quick selection, which `.ci/slowest-tests` prints beside its time.
package struct SlowTest: TestTrait, SuiteTrait {
  /// The reason, in a few words.
  package let reason: Comment

  /// The reason, as part of what the test is about.
  package var comments: [Comment] { [reason] }
}

extension Trait where Self == SlowTest {
  /// Says why a test takes long.
  ///
  /// - Parameter reason: The reason, as a literal.
  /// - Returns: The trait.
  package static func slow(_ reason: Comment) -> Self { SlowTest(reason: reason) }
}
