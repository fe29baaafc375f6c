import HeirloomModel
import HeirloomStore

/// The functions of derived attributes that transform a text, with their names in SQL.
enum TextFunction: String, Hashable, CaseIterable {
  case canonical = "heirloom_canonical"
  case uppercase = "heirloom_uppercase"
  case lowercase = "heirloom_lowercase"

  init?(selector: String) {
    guard let found = Self.allCases.first(where: { "\($0):" == selector }) else { return nil }
    self = found
  }

  /// Also registers the functions that Core Data's triggers call.
  static func register(on connection: Connection) throws(SQLiteError) {
    try connection.registerCoreDataFunctions()
    for function in allCases {
      try connection.registerFunction(function.rawValue, argumentCount: 1, isDeterministic: true) { arguments in
        guard let text = arguments.text(at: 0) else { return .null }
        return .text(function.apply(to: text))
      }
    }
  }

  private func apply(to text: String) -> String {
    switch self {
    case .canonical: text.foldedCanonically
    case .uppercase: text.uppercased()
    case .lowercase: text.lowercased()
    }
  }
}
