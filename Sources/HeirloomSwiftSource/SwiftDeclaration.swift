/// A type that a Swift file declares or extends, with what a model can be made of.
package struct SwiftDeclaration: Sendable {
  enum Kind: String, Sendable {
    case classType = "class"
    case structure = "struct"
    case enumeration = "enum"
    case actor
    case interface = "protocol"
    case `extension`
  }

  let kind: Kind
  /// The names from the outermost type to this one; an extension's are those of the type that it extends.
  let path: [String]
  let place: SwiftPlace
  var attributes: [SwiftAttribute] = []
  /// The types after the colon: a superclass, a raw type, protocols.
  var inherited: [SwiftTypeName] = []
  var isGeneric: Bool = false
  /// True if the type stands in a branch of `#if`.
  var isConditional: Bool = false
  var properties: [SwiftProperty] = []
  var cases: [SwiftCase] = []
  /// The macros that stand alone in the type, such as `#Unique`.
  var macros: [SwiftAttribute] = []
  var aliases: [String: SwiftTypeName] = [:]

  var name: String { path.last ?? "" }

  func has(_ attribute: String) -> Bool { attributes.contains { $0.name == attribute } }

  func inherits(_ name: String) -> Bool {
    inherited.contains { if case .named(let names) = $0 { names.last == name } else { false } }
  }
}

/// A place in a file.
struct SwiftPlace: Hashable, Sendable {
  /// The position of the file among those that were read.
  let file: Int
  /// The line, counted from 1.
  let line: Int
}

/// An attribute or a macro with its arguments.
struct SwiftAttribute: Sendable {
  /// The last part of its name, without the sign before it.
  let name: String
  /// The generic argument, such as `Chat` of `#Unique<Chat>`.
  var subject: SwiftTypeName?
  /// The tokens between the parentheses.
  var arguments: Range<Int> = 0..<0
  let place: SwiftPlace
}

/// A property that a type declares.
struct SwiftProperty: Sendable {
  let name: String
  let place: SwiftPlace
  var attributes: [SwiftAttribute] = []
  /// The written type; `nil` where it follows from the initial value.
  var type: SwiftTypeName?
  /// The tokens of the initial value.
  var initialValue: Range<Int>?
  /// The tokens between the braces of a computed property.
  var body: Range<Int>?
  var isStatic: Bool = false
  var isLazy: Bool = false
  /// True for one in a branch of `#if`.
  var isConditional: Bool = false

  func attribute(_ name: String) -> SwiftAttribute? { attributes.first { $0.name == name } }
}

/// A case of an enumeration.
struct SwiftCase: Hashable, Sendable {
  let name: String
  /// True for a case with associated values.
  let hasValues: Bool
  let isConditional: Bool
}
