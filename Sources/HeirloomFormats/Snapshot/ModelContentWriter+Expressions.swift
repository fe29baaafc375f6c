import HeirloomModel

extension ModelContentWriter {
  mutating func value(_ value: AttributeValue) {
    json.beginObject()
    json.key(value.kind.rawValue)
    switch value.content {
    case .integer(let number): json.integer(number)
    case .real(let number): json.double(number)
    case .flag(let flag): json.boolean(flag)
    case .text(let text): json.string(text)
    case .bytes(let bytes): json.string(value.kind == .uuid ? bytes.hexadecimal : bytes.base64)
    case .elements(let elements):
      json.beginObject()
      for (name, element) in elements.ordered(by: { $0.key }) {
        json.key(name)
        self.value(element)
      }
      json.endObject()
    }
    json.endObject()
  }

  private mutating func constant(_ constant: ConstantValue) {
    switch constant {
    case .null:
      json.null()
    case .value(let value):
      self.value(value)
    case .array(let elements):
      json.beginArray()
      for element in elements { self.constant(element) }
      json.endArray()
    case .className(let name):
      json.beginObject()
      string("className", name)
      json.endObject()
    }
  }

  mutating func expression(_ expression: ValueExpression) {
    json.beginObject()
    switch expression {
    case .constant(let value):
      json.key("constant")
      constant(value)
    case .evaluatedObject:
      flag("evaluatedObject", true)
    case .variable(let name):
      string("variable", name)
    case .keyPath(let operand, let path):
      string("keyPath", path)
      if operand != .evaluatedObject { self.expression("operand", operand) }
    case .function(let operand, let selector, let arguments):
      json.key("arguments")
      json.beginArray()
      for argument in arguments { self.expression(argument) }
      json.endArray()
      string("function", selector)
      self.expression("operand", operand)
    case .aggregate(let elements):
      json.key("aggregate")
      json.beginArray()
      for element in elements { self.expression(element) }
      json.endArray()
    case .subquery(let collection, let variable, let predicate):
      self.expression("collection", collection)
      self.predicate("subquery", predicate)
      string("variable", variable)
    case .fetch(let request, let context, let countOnly):
      self.expression("context", context)
      flag("countOnly", countOnly)
      self.expression("fetch", request)
    case .conditional(let predicate, let then, let otherwise):
      self.predicate("if", predicate)
      self.expression("otherwise", otherwise)
      self.expression("then", then)
    case .setOperation(let operation, let left, let right):
      self.expression("left", left)
      self.expression("right", right)
      string("setOperation", operation.rawValue)
    case .unparsed(let text):
      string("unparsed", text)
    }
    json.endObject()
  }

  mutating func predicate(_ predicate: PredicateDescription) {
    switch predicate {
    case .alwaysTrue:
      json.boolean(true)
    case .alwaysFalse:
      json.boolean(false)
    case .comparison(let comparison):
      self.comparison(comparison)
    case .and(let parts):
      compound("and", parts)
    case .or(let parts):
      compound("or", parts)
    case .not(let part):
      json.beginObject()
      self.predicate("not", part)
      json.endObject()
    case .unparsed(let text):
      json.beginObject()
      string("unparsed", text)
      json.endObject()
    }
  }

  private mutating func compound(_ key: String, _ parts: [PredicateDescription]) {
    json.beginObject()
    json.key(key)
    json.beginArray()
    for part in parts { predicate(part) }
    json.endArray()
    json.endObject()
  }

  private mutating func comparison(_ comparison: PredicateDescription.Comparison) {
    json.beginObject()
    flag("caseInsensitive", comparison.isCaseInsensitive)
    json.key("comparator")
    json.integer(Int64(comparison.comparator.rawValue))
    flag("diacriticInsensitive", comparison.isDiacriticInsensitive)
    expression("left", comparison.left)
    count("modifier", comparison.modifier.rawValue)
    flag("normalized", comparison.isNormalized)
    expression("right", comparison.right)
    json.endObject()
  }
}
