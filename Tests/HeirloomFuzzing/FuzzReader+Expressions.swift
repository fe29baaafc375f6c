import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomStore

extension FuzzReader {
  func expression(_ bytes: [UInt8]) throws -> FuzzStage {
    guard let text = String(wellFormedUTF8: bytes) else { return .container }
    let expression: ValueExpression
    do throws(ExpressionError) {
      expression = try ValueExpression(parsing: text)
    } catch {
      return Self.stage(of: error)
    }
    let printed = expression.predicateFormat
    do throws(ExpressionError) {
      guard try ValueExpression(parsing: printed) == expression else {
        throw ExpressionError.unexpected(found: "another expression", offset: 0, expected: "the same")
      }
    } catch .tooDeep {
      // Text with all its parentheses may be nested more deeply than its expression.
    } catch {
      throw FuzzFinding("\(printed.debugDescription) is not the same expression: \(error)")
    }
    _ = expression.hashFormat
    _ = try? evaluator.evaluate(expression, on: object)
    return .accepted
  }

  func predicate(_ bytes: [UInt8]) throws -> FuzzStage {
    guard let text = String(wellFormedUTF8: bytes) else { return .container }
    let predicate: PredicateDescription
    do throws(ExpressionError) {
      predicate = try PredicateDescription(parsing: text)
    } catch {
      return Self.stage(of: error)
    }
    let printed = predicate.predicateFormat
    do throws(ExpressionError) {
      guard try PredicateDescription(parsing: printed).predicateFormat == printed else {
        throw ExpressionError.unexpected(found: "another predicate", offset: 0, expected: "the same")
      }
    } catch .tooDeep {
      // Predicates may be too deep for the same reason.
    } catch {
      throw FuzzFinding("\(printed.debugDescription) is not the same predicate: \(error)")
    }
    _ = predicate.hashFormat
    _ = try? evaluator.evaluate(predicate, on: object)
    // This is the same condition as SQL, on rows.
    let context = ManagedObjectContext(store: try objects())
    for entity in ["List", "Item"] {
      var request = ObjectFetchRequest(entity, predicate: predicate)
      request.substitutionVariables = evaluator.variables
      _ = try? context.fetch(request)
    }
    return .accepted
  }

  /// An error that stops a text before its tokens are put together counts as the container's.
  private static func stage(of error: ExpressionError) -> FuzzStage {
    switch error {
    case .tooLong, .unterminatedString, .invalidEscape, .invalidNumber: .container
    default: .form
    }
  }

  private func objects() throws -> PersistentStore {
    if let conditionStore { return conditionStore }
    let url = folder.appendingPathComponent("Conditions.sqlite")
    let model = try FuzzSeeds.model("Done/Done 3.json")
    let store = try PersistentStore.create(at: url, model: model)
    try FuzzSeeds.fill(store)
    conditionStore = store
    return store
  }
}

final class FuzzObject: ValueSource {
  private let values: [String: EvaluatedValue]
  init(_ values: [String: EvaluatedValue]) { self.values = values }
  var valueIdentity: AnyHashable { ObjectIdentifier(self) }
  func value(forKey key: String) -> EvaluatedValue? { values[key] }

  static func sample() -> FuzzObject {
    let inner = FuzzObject(["name": .string("Pen"), "price": .integer(3), "title": .string("b")])
    return FuzzObject([
      "name": .string("Été à Paris"), "title": .string("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
      "n": .integer(.max), "x": .double(2.5), "a": .integer(1), "b": .value(.decimal("1e500")), "flag": .boolean(true),
      "day": .value(.date(1000)), "nothing": .null, "items": .list([.object(inner), .object(inner), .null]),
      "first": .object(inner), "id": .value(.uuid(Array(0..<16))), "data": .value(.binary([1, 2, 3])),
      "items2": .list([.integer(1), .double(.nan), .string("x")]),
    ])
  }
}
