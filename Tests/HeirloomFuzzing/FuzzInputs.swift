package import Foundation
import HeirloomFormats

/// The mutated inputs of a reader, each known by its number: equal seeds give equal inputs.
package struct FuzzInputs {
  private let target: FuzzTarget
  private let seed: UInt64
  private let folder: URL
  private let samples: [[UInt8]]

  /// `folder` is for files that are gone afterwards.
  package init(for target: FuzzTarget, seed: UInt64, folder: URL) throws {
    self.target = target
    self.seed = seed
    self.folder = folder
    samples = try FuzzSeeds.inputs(for: target, folder: folder)
  }

  /// The first inputs, from 0, are the samples themselves.
  package func input(_ number: Int) throws -> [UInt8] {
    if number < samples.count { return samples[number] }
    var random = FuzzRandom(seed: seed &* 0x1000_0000_01B3 &+ UInt64(number) &* 0x9E37_79B1)
    return try mutated(random.pick(samples), using: &random)
  }

  /// The input may itself be damaged.
  package func mutated(_ bytes: [UInt8], using random: inout FuzzRandom) throws -> [UInt8] {
    var result = bytes
    switch target {
    case .archivedValue, .compiledModel, .compiledMapping: result = Self.propertyList(bytes, using: &random)
    case .propertyList where BinaryPropertyListReader.recognizes(bytes):
      result = Self.propertyList(bytes, using: &random)
    case .propertyList, .modelSource, .mappingSource:
      if let mutation = MarkupMutation(bytes) {
        mutation.mutate(using: &random)
        result = mutation.encoded(using: &random)
      }
    case .modelCache:
      if let archive = try? Compression.inflate(bytes) {
        result = try Compression.deflate(Self.propertyList(archive, using: &random))
      }
    case .snapshot: result = try Self.snapshot(bytes, using: &random)
    case .expression, .predicate, .logText:
      let other = String(decoding: random.pick(samples), as: UTF8.self)
      var mutation = TextMutation(String(decoding: bytes, as: UTF8.self), with: other)
      mutation.mutate(using: &random)
      result = mutation.encoded
    case .swiftSource:
      let other = String(decoding: random.pick(samples), as: UTF8.self)
      var mutation = SwiftMutation(String(decoding: bytes, as: UTF8.self), with: other)
      mutation.mutate(using: &random)
      result = mutation.encoded
    case .surroundings:
      // Any bytes are a recipe.
      result += (0..<random.below(48)).map { _ in UInt8(random.below(256)) }
      random.damage(&result)
      return result
    case .store:
      var mutation = StoreMutation(bytes, folder: folder)
      try mutation.mutate(using: &random)
      return mutation.bytes
    }
    if random.once(in: 12) { random.damage(&result) }
    return result
  }

  private static func propertyList(_ bytes: [UInt8], using random: inout FuzzRandom) -> [UInt8] {
    guard var mutation = PropertyListMutation(bytes) else { return bytes }
    mutation.mutate(using: &random)
    return mutation.encoded(using: &random)
  }

  private static func snapshot(_ bytes: [UInt8], using random: inout FuzzRandom) throws -> [UInt8] {
    let isCompressed = Compression.isGzip(bytes)
    guard var mutation = JSONMutation(isCompressed ? (try? Compression.gunzip(bytes)) ?? [] : bytes) else {
      return bytes
    }
    mutation.mutate(using: &random)
    if !random.once(in: 3) { mutation.agree() }
    var json = mutation.encoded
    if random.once(in: 15) { random.damage(&json) }
    return isCompressed ? try Compression.gzip(json) : json
  }
}
