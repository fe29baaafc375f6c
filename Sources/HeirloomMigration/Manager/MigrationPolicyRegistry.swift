package import HeirloomMapping
public import HeirloomModel

/// The policies and functions that mapping models refer to by name.
///
/// Mapping model files name classes, and Swift can't look up a class by its name. An entity mapping that was given a
/// class in Swift needs no name.
public struct MigrationPolicyRegistry: Sendable {
  /// A function that expressions call.
  public typealias Function =
    @Sendable (_ receiver: EvaluatedValue, _ arguments: [EvaluatedValue]) throws ->
    EvaluatedValue

  private var policies: [String: PolicyClass] = [:]
  /// The functions by selector, such as `shortName:`.
  public private(set) var functions: [String: Function] = [:]

  /// Creates an empty registry.
  public init() {}

  /// The names of policies, sorted.
  public var policyNames: [String] { policies.keys.ordered() }

  /// Registers a policy under a name.
  ///
  /// - Parameters:
  ///   - policy: The class.
  ///   - name: The name in mapping models, possibly after a module's name and a point; by default, the class's name.
  public mutating func register(_ policy: EntityMigrationPolicy.Type, named name: String? = nil) {
    let policyClass = PolicyClass(policy)
    policies[name ?? policyClass.name] = policyClass
  }

  /// Registers a function under a selector.
  ///
  /// - Parameters:
  ///   - selector: The name with a colon for each argument, such as `shortName:`.
  ///   - function: The function.
  public mutating func register(function selector: String, _ function: @escaping Function) {
    functions[selector] = function
  }

  /// Swift converts a dictionary of functions only by a cast, which fails at run time.
  package var evaluatorFunctions: [String: ExpressionEvaluator.Function] {
    functions.mapValues { function in { receiver, arguments in try function(receiver, arguments) } }
  }

  /// The standard policy if the mapping names none.
  package func policy(for mapping: EntityMapping) throws(MigrationError) -> EntityMigrationPolicy {
    guard let policyClass = policyClass(of: mapping) else {
      throw .unknownPolicies(names: [mapping.entityMigrationPolicyClassName ?? ""], known: policyNames)
    }
    guard let type = policyClass.type as? EntityMigrationPolicy.Type else {
      throw .unsupportedMapping(
        reason:
          "the policy \"\(policyClass.name)\" of the entity mapping \"\(mapping.name)\" is not a subclass of EntityMigrationPolicy"
      )
    }
    return type.init()
  }

  package func unknownPolicies(of mappings: [EntityMapping]) -> [String] {
    let unknown = mappings.filter { policyClass(of: $0) == nil }.compactMap(\.entityMigrationPolicyClassName)
    return Set(unknown).ordered()
  }

  private func policyClass(of mapping: EntityMapping) -> PolicyClass? {
    if let given = mapping.entityMigrationPolicyClass { return given }
    guard let name = mapping.entityMigrationPolicyClassName else { return PolicyClass(EntityMigrationPolicy.self) }
    // The file names Swift classes with their module, which need not be the one that registered them.
    return policies[name]
      ?? name.names(separatedBy: ".", omittingEmptySubsequences: true).last.flatMap { policies[String($0)] }
  }
}
