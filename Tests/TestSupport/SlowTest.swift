package import Testing

/// The reason why a test takes more than 5 s in the quick selection, which `.ci/slowest-tests` prints beside its time.
package struct SlowTest: TestTrait, SuiteTrait {
  package let reason: Comment

  package var comments: [Comment] { [reason] }
}

extension Trait where Self == SlowTest {
  /// `.ci/slowest-tests` reads the reason from the source: it must be a literal.
  package static func slow(_ reason: Comment) -> Self { SlowTest(reason: reason) }
}
