import Foundation
import Heirloom
import TestSupport

/// The versions of a life's model, the oldest first.
struct LifeModels {
  let versions: [XMLModel]
  let edits: [[SeededEdit]]

  init(using random: inout SplitMix64) {
    var model = XMLModel(using: &random)
    model.mark()
    // Of half of the lives, the same content comes out of each migration: nothing hides what no model knows.
    let kinds = random.below(2) == 0 ? SeededEdit.allCases : SeededEdit.lossless
    var versions = [model.named(1)]
    var edits: [[SeededEdit]] = []
    for number in 2...2 + random.below(3) {
      var made: [SeededEdit] = []
      for _ in 0..<1 + random.below(3) {
        for _ in 0..<8 {
          let edit = kinds[random.below(kinds.count)]
          guard edit.apply(to: &model, using: &random) else { continue }
          made.append(edit)
          break
        }
        model.mark()
      }
      if random.below(4) == 0 { model.demand(using: &random) }
      versions.append(model.named(number))
      edits.append(made)
    }
    (self.versions, self.edits) = (versions, edits)
  }

  /// All names of what has this name in some version: a property's, or an entity's if `entity` is
  /// `nil`.
  func aliases(of name: String, in entity: String?) -> Set<String> {
    var identifiers: Set<String> = []
    func visit(_ body: (_ name: String, _ identifier: String) -> Void) {
      for model in versions {
        for found in model.entities {
          guard entity != nil else {
            body(found.name, found.identifier)
            continue
          }
          for attribute in found.attributes { body(attribute.name, attribute.identifier) }
          for relationship in found.relationships { body(relationship.name, relationship.identifier) }
        }
      }
    }
    visit { if $0 == name { identifiers.insert($1) } }
    var names: Set = [name]
    visit { if identifiers.contains($1) { names.insert($0) } }
    return names
  }
}

extension XMLModel {
  fileprivate func named(_ number: Int) -> XMLModel {
    var model = self
    model.identifier = "version \(number)"
    return model
  }

  /// Makes an attribute required without a default, or unique: rows that don't fit need a decision.
  fileprivate mutating func demand(using random: inout SplitMix64) {
    guard let entity = entities.indices.randomElement(using: &random),
      let place = entities[entity].attributes.indices.filter({
        let attribute = entities[entity].attributes[$0]
        return attribute.name != SeededCase.mark && !attribute.isTransient && attribute.type != "Boolean"
      }).randomElement(using: &random)
    else { return }
    if random.below(2) == 0 {
      entities[entity].attributes[place].isOptional = false
    } else {
      entities[entity].uniqueAttributes = [entities[entity].attributes[place].name]
    }
  }

  /// Gives every object its serial number: the attribute is where all of a tree's entities inherit it.
  fileprivate mutating func mark() {
    let mark = Attribute(name: SeededCase.mark, identifier: SeededCase.mark, type: "Integer 64")
    for index in entities.indices {
      let names = entities[index].attributes.filter { !$0.isTransient }.map(\.name)
      entities[index].uniqueAttributes.removeAll { !names.contains($0) }
      entities[index].attributes.removeAll { $0.name == SeededCase.mark }
      if entities[index].parent == nil { entities[index].attributes.append(mark) }
    }
  }
}

/// The app of a life: its models in files, as an app has them in its bundle.
struct LifeApp {
  let folders: [ModelFolder]
  /// The models by the identifiers that stores repeat.
  let models: [String: XMLModel]

  init(_ models: LifeModels, in directory: TemporaryDirectory) throws {
    folders = try models.versions.enumerated().map { number, model in
      try ModelFolder(model, named: "Model\(number + 1)", in: directory)
    }
    self.models = Dictionary(uniqueKeysWithValues: folders.map { ($0.xml.identifier, $0.xml) })
  }

  func version(of model: XMLModel?) -> Int? { folders.firstIndex { $0.xml.identifier == model?.identifier } }

  /// With `knowsLater`, the developer kept the versions of later releases.
  func history(_ version: Int, knowsLater: Bool) -> ModelHistory {
    func listed(_ folders: some Sequence<ModelFolder>) -> [(name: String, model: ManagedObjectModel)] {
      folders.map { ($0.name, $0.model) }
    }
    return ModelHistory(
      current: folders[version].model, name: folders[version].name, earlier: listed(folders[..<version]),
      later: knowsLater ? listed(folders[(version + 1)...]) : [])
  }
}
