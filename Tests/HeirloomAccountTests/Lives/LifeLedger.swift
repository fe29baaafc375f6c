import Foundation
import Heirloom

/// All that was ever in the store and has to be somewhere still.
struct LifeLedger {
  /// How often one file has to hold each fact.
  private(set) var needed: [Fact: Int] = [:]

  mutating func admit(_ facts: [Fact: Int]) { needed.merge(facts, uniquingKeysWith: max) }

  /// Takes away what a user's write removed from the store.
  mutating func forget(_ before: [Fact: Int], after: [Fact: Int]) {
    for (fact, count) in before {
      let removed = count - after[fact, default: 0]
      if removed > 0 { remove(fact, removed) }
    }
  }

  /// Takes away what somebody has agreed to lose.
  mutating func remove(_ fact: Fact, _ count: Int) {
    guard let old = needed[fact] else { return }
    needed[fact] = old > count ? old - count : nil
  }

  /// Facts that no single file holds as often as they were in the store.
  func missing(from files: [[Fact: Int]]) -> [Fact] {
    needed.filter { fact, count in !files.contains { $0[fact, default: 0] >= count } }.map(\.key)
  }
}

/// Losses that one migration told, from which the facts that are gone are taken one by one.
struct LifeLosses {
  enum Answer {
    case told, agreed
  }

  private let models: LifeModels
  private let source: StoreFacts
  private var losses: [(loss: ToldLoss, answer: Answer)]
  /// The serial numbers of the objects that are there after the act.
  private let present: Set<Cell>
  /// The objects that losses of objects were taken for.
  private var objects: [ObjectKey: Answer] = [:]

  init(_ losses: [MigrationLoss], models: LifeModels, source: StoreFacts, after: [Fact: Int]) {
    (self.models, self.source) = (models, source)
    present = Set(after.keys.compactMap { if case .object(_, let serial) = $0 { serial } else { nil } })
    self.losses = losses.map { (ToldLoss($0), $0.consent == nil ? .told : .agreed) }
  }

  /// Uses up a part of a loss that has the fact's kind, entity and property; `nil` if none is left.
  mutating func cover(_ fact: Fact) -> Answer? {
    switch fact {
    case .value:
      guard let place = source.places[fact] else { return nil }
      let kinds: Set<ToldLoss.Kind> = [.values, .changedValues]
      if let object = object(at: place) {
        if let answer = coverObject(object) { return answer }
        let entities = entities(of: object)
        return take(
          self.place {
            kinds.contains($0.kind) && entities.contains($0.entity) && isName(place.column, of: $0.property)
          })
      }
      // (A row of a link goes with its link, and so with an object at either end.)
      for object in ends(of: place) {
        if let answer = coverObject(object) { return answer }
      }
      return take(
        self.place { kinds.contains($0.kind) && isName(place.column, of: $0.property) || $0.kind == .links })
    case .object(_, let serial): return coverObject(serial)
    case .link(let letter, let owner, let target):
      if let answer = coverObject(owner) ?? coverObject(target) { return answer }
      // (A link of an object whose entity has no such relationship is content that no model knows.)
      return take(place { has($0, letter, [.links, .values]) })
    case .order(let relationship, let owner, let first, let second):
      // A link that is lost takes its place along.
      if let answer = coverObject(owner) ?? coverObject(first) ?? coverObject(second) { return answer }
      return losses.first { loss in
        relationship.last.map { has(loss.loss, $0, [.order, .links, .values]) } ?? false
      }?.answer
    case .row, .metadata: return nil
    }
  }

  private func object(at place: StoreFacts.Place) -> ObjectKey? {
    guard let table = source.contents.tables[place.table], let keys = table.place(of: "Z_PK"),
      let key = table.rows[place.row][keys].integer
    else { return nil }
    return ObjectKey(table: place.table, key: key)
  }

  /// None for rows of tables that hold no links.
  private func ends(of place: StoreFacts.Place) -> [ObjectKey] {
    guard let layout = source.layout, let table = source.contents.tables[place.table] else { return [] }
    for entity in layout.model.entities {
      for relationship in entity.relationships {
        let name = Layout.Name(entity: entity.name, property: relationship.name)
        guard let join = layout.join(of: name, in: source.contents), join.table == place.table else { continue }
        let ends = [(join.ownerColumn, entity.name), (join.targetColumn, relationship.destination)]
        return ends.compactMap { column, entity in
          guard let key = table.place(of: column).flatMap({ table.rows[place.row][$0].integer }),
            let objects = layout.tables[entity]
          else { return nil }
          return ObjectKey(table: objects, key: key)
        }
      }
    }
    return []
  }

  /// In all versions, with the names of the entities above.
  private func entities(of object: ObjectKey) -> Set<String> {
    guard let entity = source.objects?.entity(object), let model = source.model else { return [] }
    return model.chain(of: entity).reduce(into: []) { $0.formUnion(models.aliases(of: $1.name, in: nil)) }
  }

  private mutating func coverObject(_ serial: Cell) -> Answer? {
    source.places[.value(serial)].flatMap(object).flatMap { coverObject($0) }
  }

  private mutating func coverObject(_ object: ObjectKey) -> Answer? {
    if let answer = objects[object] { return answer }
    // A link that goes has an end that may stay.
    if let serial = source.serial(object), present.contains(serial) { return nil }
    guard let entity = source.objects?.entity(object) else { return nil }
    let names = models.aliases(of: entity, in: nil)
    let answer = take(place { $0.kind == .objects && names.contains($0.entity) })
    objects[object] = answer
    return answer
  }

  private func place(where matches: (ToldLoss) -> Bool) -> Int? {
    losses.firstIndex { $0.loss.amount > 0 && matches($0.loss) }
  }

  private mutating func take(_ place: Int?) -> Answer? {
    guard let place else { return nil }
    losses[place].loss.amount -= 1
    return losses[place].answer
  }

  /// Returns true if a column holds a property in some version, or is what the loss names.
  private func isName(_ column: String, of property: String?) -> Bool {
    guard let property else { return false }
    if column == property { return true }
    let base = column.hasPrefix("Z") ? column.dropFirst() : column[...]
    return models.aliases(of: property, in: "").contains { name in
      let name = name.uppercased()
      // Columns of equal names have numbers behind them.
      return base.hasPrefix(name) && base.dropFirst(name.count).allSatisfy(\.isNumber)
    }
  }

  private func has(_ loss: ToldLoss, _ letter: Character, _ kinds: Set<ToldLoss.Kind>) -> Bool {
    kinds.contains(loss.kind)
      && loss.property.map { models.aliases(of: $0, in: "").contains { ["to\(letter)", "of\(letter)"].contains($0) } }
        ?? false
  }
}
