package import HeirloomFormats
import HeirloomModel

extension ModelVersionList {
  /// Lists the versions of a model that a Swift file or folder declares.
  ///
  /// They are the schemas of the migration plan, in its order; without a plan, all versioned
  /// schemas, ordered by identifier; without any, the one list of classes in containers. The last
  /// one is current. Versioned schemas outside the plan come first: stores of them may exist, but
  /// their position is unknown.
  ///
  /// Another current version can be named: a schema, a plan for its last one, or classes separated
  /// by commas. The excluded paths are relative to the folder. Throws `ModelReadingError` if a file
  /// can't be parsed, or if the source doesn't determine the versions.
  package init(
    swiftSource path: String, named name: String? = nil, excluding: [String] = []
  ) throws(ModelReadingError) {
    self = try SwiftHistory(path, excluding: excluding).versions(named: name)
  }
}

struct SwiftVersions {
  private let folder: SwiftFolder
  private let found: SwiftDataSchemas
  /// In order; `isPlanned` is true if a plan or the identifier determines a version's position.
  private(set) var all: [(name: String, file: ModelFile, isPlanned: Bool)] = []
  private(set) var current: String = ""
  /// Hops with a custom stage, which the app's code migrates.
  private(set) var stepsByCode: [VersionLock.Step] = []

  init(_ history: SwiftHistory, named name: String?) throws(ModelReadingError) {
    (folder, found) = (history.folder, history.schemas)
    if let path = folder.unknownExclusions.min(by: { NaturalOrder.precedes($0, $1) }) {
      throw Self.undecided(
        folder.path, "there is no Swift file and no folder at \"\(path)\" that --exclude could leave out",
        "Give the path from \(shellWord(folder.path)).")
    }
    if let fault = folder.source.faults.first {
      throw Self.undecided(
        folder.path, "\(fault.path):\(fault.error.line): \(fault.error.reason)",
        "Correct the file, or leave it out with --exclude \(shellWord(fault.path)).")
    }
    let versioned = found.schemas.filter { $0.kind == .versionedSchema }
    let places = Dictionary(grouping: versioned, by: \.name).filter { $0.value.count > 1 }
    if let (name, all) = places.min(by: { $0.key < $1.key }) {
      throw Self.undecided(
        folder.path, "\(name) is declared more than once, at \(list(all.compactMap { $0.place.map(text) }))",
        "Leave one of the files out with --exclude.")
    }
    let isPlan = found.plans.contains { $0.name == name }
    if let name, !isPlan, !versioned.contains(where: { $0.name == name }) {
      let schema = named(name) ?? found.schema(of: name.split(separator: ",").map(String.init))
      add(schema, name: name, isPlanned: true)
      return
    }
    if let plan = try plan(of: name) {
      let listed = plan.schemas.compactMap { name in versioned.first { $0.name == name } }
      for schema in versioned where !plan.schemas.contains(schema.name) {
        add(schema, name: schema.name, isPlanned: false)
      }
      for schema in listed { add(schema, name: schema.name, isPlanned: true) }
      stepsByCode = plan.stages.filter { $0.kind == .custom }.map {
        VersionLock.Step(source: $0.source, destination: $0.destination)
      }
    } else if !versioned.isEmpty {
      let identifiers = versioned.compactMap(\.identifier)
      let areOrdered = Set(identifiers).count == versioned.count
      let ordered = versioned.sorted { one, other in
        NaturalOrder.precedes(
          (areOrdered ? one.identifier : nil) ?? one.name, (areOrdered ? other.identifier : nil) ?? other.name)
      }
      for schema in ordered { add(schema, name: schema.name, isPlanned: areOrdered) }
    } else {
      let schema = try unversioned()
      add(schema, name: schema.identifier ?? "1.0.0", isPlanned: true)
    }
    if let name, !isPlan { current = name }
  }

  // MARK: - The choice

  private static func undecided(_ path: String, _ reason: String, _ advice: String) -> ModelReadingError {
    ModelReadingError(path: path, problem: .undecided(reason: reason, advice: advice))
  }

  private func naming(_ example: String) -> String {
    "Name the intended one, as in \(shellWord("\(folder.path):\(example)")), or leave files out with --exclude."
  }

  /// A container's list, under the name that it has here.
  private func named(_ name: String) -> SwiftDataSchemas.Schema? {
    guard !found.schemas.contains(where: { $0.kind == .versionedSchema }), let only = try? unversioned() else {
      return nil
    }
    return (only.identifier ?? "1.0.0") == name ? only : nil
  }

  /// The named plan, else the one with the named schema, else the only one; `nil` if there is none.
  private func plan(of name: String?) throws(ModelReadingError) -> SwiftDataSchemas.Plan? {
    let named = found.plans.filter { $0.name == name }
    let plans = named.isEmpty ? found.plans.filter { plan in name.map(plan.schemas.contains) ?? true } : named
    guard let plan = plans.first else { return nil }
    guard plans.count == 1 else {
      throw Self.undecided(
        folder.path,
        "it declares \(plans.count) migration plans, \(list(plans.map { "\($0.name) (\(text($0.place)))" }))",
        naming(plan.name))
    }
    if let fault = plan.faults.first {
      throw Self.undecided(
        folder.path, "the plan \(plan.name): \(fault.place.map { "\(text($0)): " } ?? "")\(fault.reason)",
        "Write the plan's lists as literals; heirloom inspect \(shellWord(folder.path)) shows the parts that are"
          + " understood.")
    }
    let missing = plan.schemas.first { name in !found.schemas.contains { $0.name == name } }
    guard missing == nil, !plan.schemas.isEmpty else {
      throw Self.undecided(
        folder.path,
        "the plan \(plan.name) (\(text(plan.place))) lists"
          + " \(missing.map { "\($0), which isn't a versioned schema" } ?? "no schema")",
        "Correct the plan.")
    }
    return plan
  }

  private func unversioned() throws(ModelReadingError) -> SwiftDataSchemas.Schema {
    guard let schema = found.schemas.first else {
      let classes = folder.source.modelNames
      throw Self.undecided(
        folder.path,
        classes.isEmpty
          ? "no class in it is marked @Model" : "no schema and no container in it lists \(list(classes))",
        classes.isEmpty
          ? "Give the folder of the app's models, or a model bundle itself."
          : "Name the classes that the app lists, as in \(shellWord("\(folder.path):\(classes.prefix(2).joined(separator: ","))"))."
      )
    }
    guard found.schemas.count == 1 else {
      let places = found.schemas.map { $0.place.map(text) ?? $0.name }
      throw Self.undecided(
        folder.path, "its containers list different classes, at \(list(places))",
        naming(found.schemas[0].roots.map { $0.path.joined(separator: ".") }.joined(separator: ",")))
    }
    return schema
  }

  private func text(_ place: SwiftPlace) -> String { folder.source.text(place) }

  private func list(_ words: [String]) -> String {
    words.prefix(5).joined(separator: ", ") + (words.count > 5 ? " and \(words.count - 5) more" : "")
  }

  // MARK: - Versions

  private mutating func add(_ schema: SwiftDataSchemas.Schema, name: String, isPlanned: Bool) {
    let builder = SwiftDataModelBuilder(of: schema.roots, in: found.source)
    let place = schema.place ?? schema.roots.first?.place
    let held = InMemoryModel(
      reading(schema, name, builder), file: place.map { folder.file(of: $0) } ?? folder.path, line: place?.line,
      places: builder.places)
    all.append((name, ModelFile(unchecked: "\(folder.path):\(name)", kind: .inMemory(held)), isPlanned))
    current = name
  }

  private func reading(
    _ schema: SwiftDataSchemas.Schema, _ name: String, _ builder: SwiftDataModelBuilder
  ) -> InMemoryModel.Reading {
    let path = "\(folder.path):\(name)"
    let faults = schema.faults.map { ($0.place.map { "\(text($0)): " } ?? "") + $0.reason }
    let doubts = builder.doubts.map { doubt in
      "\(doubt.property.map { "\(doubt.entity).\($0)" } ?? doubt.entity) (\(text(doubt.place))): \(doubt.reason)"
    }
    do throws(ModelReadingError) {
      let model = try builder.model(identifier: schema.identifier ?? "1.0.0")
      guard let first = (faults + doubts).first else { return .certain(model) }
      let more = faults.count + doubts.count - 1
      let problem = Self.undecided(
        path, first + (more > 0 ? "; and \(more) more" : ""),
        "heirloom inspect \(shellWord(folder.path)) lists all doubts. The model in a store of this version is certain:"
          + " the command snapshot writes it."
      )
      return .doubtful(model, problem)
    } catch {
      return .failed(error.inFile(path))
    }
  }
}
