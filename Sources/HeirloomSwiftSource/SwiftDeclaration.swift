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
  var path: [String]
  let place: SwiftPlace
  /// The tokens between its braces.
  var body: Range<Int> = 0..<0
  var attributes: [SwiftAttribute] = []
  /// The types after the colon: a superclass, a raw type, protocols.
  var inherited: [SwiftTypeName] = []
  var isGeneric: Bool = false
  /// True if the type itself stands in a branch of `#if`; types around it aside.
  var isConditional: Bool = false
  /// True for one that only its own file sees.
  var isPrivate: Bool = false
  /// The length of the path that an extension around it writes in one; no name is sought within it.
  var head: Int = 0
  var properties: [SwiftProperty] = []
  var cases: [SwiftCase] = []
  /// The macros that stand alone in the type, such as `#Unique`.
  var macros: [SwiftAttribute] = []
  var aliases: [SwiftAlias] = []
  /// The functions that tell how the type is coded or made: `encode(to:)`, `init(from:)` and `init?`.
  var functions: Set<String> = []

  var name: String { path.last ?? "" }

  /// The place of what stands between its braces.
  var scope: SwiftScope { SwiftScope(path: path, head: kind == .extension ? path.count : head, file: place.file) }

  func has(_ attribute: String) -> Bool { attributes.contains { $0.name == attribute } }

  /// Returns true for the same declaration, though its path may be written in another way.
  func isSame(as other: SwiftDeclaration) -> Bool { name == other.name && place == other.place }

  func inherits(_ name: String) -> Bool {
    inherited.contains { if case .named(let names) = $0 { names.last == name } else { false } }
  }
}

/// Another name of a type.
struct SwiftAlias: Sendable {
  let name: String
  let type: SwiftTypeName
  var scope: SwiftScope
  let isConditional: Bool
  let isPrivate: Bool
}

/// The types around a place, from which names are sought outwards.
struct SwiftScope: Hashable, Sendable {
  let path: [String]
  /// The length of the path below which the file follows at once.
  let head: Int
  /// The file of the place; `nil` sees what is private in any file.
  let file: Int?

  /// The place around the innermost type.
  var outer: SwiftScope {
    SwiftScope(path: path.count > head ? path.dropLast() : [], head: head, file: file)
  }
}

/// A place in a file.
package struct SwiftPlace: Hashable, Sendable {
  /// The position of the file among those that were read.
  let file: Int
  /// The line, counted from 1.
  package let line: Int
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
  /// True for a macro in a branch of `#if`.
  var isConditional: Bool = false
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
  var isConstant: Bool = false
  /// True for a name in backticks.
  var isQuoted: Bool = false
  /// True for one in a branch of `#if`.
  var isConditional: Bool = false

  func attribute(_ name: String) -> SwiftAttribute? { attributes.first { $0.name == name } }

  /// True for a property that takes room in an object.
  var isStored: Bool { !isStatic && body == nil }

  /// True for a stored member of a structure that is coded as it is written.
  var isPlainMember: Bool {
    !isLazy && !isConditional && !isQuoted && attributes.isEmpty && (!isConstant || initialValue == nil)
  }
}

/// A case of an enumeration.
struct SwiftCase: Hashable, Sendable {
  let name: String
  let place: SwiftPlace
  /// The tokens between the parentheses of associated values.
  var values: Range<Int>?
  /// The tokens of a written raw value.
  var rawValue: Range<Int>?
  let isConditional: Bool
  /// True for a name in backticks.
  let isQuoted: Bool
}
