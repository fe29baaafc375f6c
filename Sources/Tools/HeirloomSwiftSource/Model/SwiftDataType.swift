/// A property's type, with its names looked up and its aliases resolved.
indirect enum SwiftDataType {
  case optional(SwiftDataType)
  case array(SwiftDataType)
  case dictionary(SwiftDataType, SwiftDataType)
  case declared(SwiftDeclaration)
  /// A type that the source doesn't declare, by name.
  case library(String)
  /// Any other type as source text, with the model classes that it mentions.
  case other(String, models: [SwiftDeclaration])
  /// A name of several declarations, with the model classes among them.
  case ambiguous(String, models: [SwiftDeclaration])

  var models: [SwiftDeclaration] {
    switch self {
    case .optional(let inner), .array(let inner): inner.models
    case .dictionary(let key, let value): key.models + value.models
    case .declared(let declaration): declaration.has("Model") ? [declaration] : []
    case .library: []
    case .other(_, let models), .ambiguous(_, let models): models
    }
  }

  /// It mentions a type that the source doesn't declare and that may be an alias of a model class.
  var isUnread: Bool {
    switch self {
    case .optional(let inner), .array(let inner): inner.isUnread
    case .dictionary(let key, let value): key.isUnread || value.isUnread
    case .library(let name): SwiftDataAttributes.plain[name] == nil && !Self.values.contains(name)
    case .other, .ambiguous: true
    case .declared: false
    }
  }

  /// Types of the system that aren't model classes, although no known store shows how they are
  /// stored.
  private static let values: Set<String> = [
    "AttributedString", "CGFloat", "CGPoint", "CGRect", "CGSize", "CGVector", "Calendar", "Character", "Color",
    "DateComponents", "DateInterval", "Duration", "Float16", "IndexPath", "IndexSet", "Int8", "Locale",
    "NSAttributedString", "NSImage", "PersistentIdentifier", "PersonNameComponents", "TimeZone", "UIColor", "UIImage",
    "UInt", "UInt16", "URL",
  ]

  typealias Target = (model: SwiftDeclaration, isOptional: Bool, isToMany: Bool)

  /// For a relationship of type `T`, `T?`, `[T]` or `[T]?`.
  var target: Target? {
    var (inner, isOptional, isToMany) = (self, false, false)
    if case .optional(let wrapped) = inner { (inner, isOptional) = (wrapped, true) }
    if case .array(let element) = inner { (inner, isToMany) = (element, true) }
    guard case .declared(let declaration) = inner, declaration.has("Model") else { return nil }
    return (declaration, isOptional, isToMany)
  }
}

extension SwiftDataType: CustomStringConvertible {
  var description: String {
    switch self {
    case .optional(let wrapped): "\(wrapped)?"
    case .array(let element): "[\(element)]"
    case .dictionary(let key, let value): "[\(key): \(value)]"
    case .declared(let declaration): declaration.name
    case .library(let name), .other(let name, _), .ambiguous(let name, _): name
    }
  }
}

extension SwiftDataSource {
  private static let depthLimit = 16
  /// For aliases within one type; nested aliases can be very many.
  private static let aliasLimit = 500

  /// With all aliases resolved.
  func type(_ type: SwiftTypeName, in scope: SwiftScope) -> SwiftDataType {
    var count = 0
    return self.type(type, in: scope, depth: 0, count: &count)
  }

  private func type(
    _ type: SwiftTypeName, in scope: SwiftScope, depth: Int, count: inout Int
  ) -> SwiftDataType {
    count += 1
    guard depth < Self.depthLimit, count < Self.aliasLimit else { return .ambiguous("\(type)", models: []) }
    switch type {
    case .optional(let wrapped): return .optional(self.type(wrapped, in: scope, depth: depth, count: &count))
    case .array(let element): return .array(self.type(element, in: scope, depth: depth, count: &count))
    case .dictionary(let key, let value):
      let key = self.type(key, in: scope, depth: depth, count: &count)
      return .dictionary(key, self.type(value, in: scope, depth: depth, count: &count))
    case .other(let text):
      var models: [SwiftDeclaration] = []
      for names in type.names {
        models += self.type(.named(names), in: scope, depth: depth + 1, count: &count).models
      }
      return .other(text, models: models)
    case .named(let names):
      let (types, aliases) = candidates(for: names, in: scope)
      switch (types.count, aliases.count) {
      case (0, 0):
        // The name may be qualified by a module.
        let short = SwiftTypeName.withoutLibrary(names)
        let last =
          short.count > 1
          ? self.type(.named([short[short.count - 1]]), in: scope, depth: depth + 1, count: &count) : nil
        guard let models = last?.models, !models.isEmpty else { return .library(short.joined(separator: ".")) }
        return .other("\(type)", models: models)
      case (0, 1) where !hidesLibrary(aliases[0].name, aliases[0].isConditional):
        return self.type(aliases[0].type, in: aliases[0].scope, depth: depth + 1, count: &count)
      case (1, 0) where !hidesLibrary(types[0].name, types[0].isConditional): return .declared(types[0])
      default:
        var models = types.filter { $0.has("Model") }
        for alias in aliases {
          models += self.type(alias.type, in: alias.scope, depth: depth + 1, count: &count).models
        }
        return .ambiguous("\(type)", models: models)
      }
    }
  }

  private func hidesLibrary(_ name: String, _ isConditional: Bool) -> Bool {
    isConditional && SwiftDataAttributes.plain[name] != nil
  }

  /// A module can change the types of literals by these aliases.
  private static let literalAliases = [
    "Bool": "BooleanLiteralType", "Double": "FloatLiteralType", "Int": "IntegerLiteralType",
    "String": "StringLiteralType",
  ]

  /// Declared, or of a plain initial value; `nil` if only the compiler knows it.
  func type(of property: SwiftProperty, in owner: SwiftDeclaration) -> SwiftDataType? {
    if let type = property.type { return self.type(type, in: owner.scope) }
    guard let range = property.initialValue, !range.isEmpty else { return nil }
    let value = SwiftInitialValue(range, tokens(property.place))
    if let literal = value.literalType {
      // Such an alias in the module changes the type of literals; a declaration that hides the
      // type's name may as well.
      let isPlain = [literal, Self.literalAliases[literal] ?? ""].allSatisfy {
        let (types, aliases) = candidates(for: [$0], in: owner.scope)
        return types.isEmpty && aliases.isEmpty
      }
      return isPlain ? .library(literal) : nil
    }
    guard let call = value.call else { return nil }
    // A failable initializer returns an optional.
    let type = self.type(call.type, in: owner.scope)
    switch type {
    case .array: return call.hasArguments && canFail(["Array"]) ? nil : type
    case .library(let name):
      return call.hasArguments && (name != "Date" || canFail([name])) ? nil : type
    case .declared(let made): return made.kind == .enumeration || canFail(made.path) ? nil : type
    default: return nil
    }
  }
}
