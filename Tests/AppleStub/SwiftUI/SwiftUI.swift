// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// As much of SwiftUI as shows that its names and Heirloom's can be used in one file. (From Apple's documentation.)
@_exported import Foundation

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
  public var body: Never { fatalError("a stub is type-checked only") }
}

@resultBuilder public enum ViewBuilder {
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
}

public struct Text: View {
  public init(_ content: String) {}
  public var body: Never { fatalError("a stub is type-checked only") }
}

public struct VStack<Content: View>: View {
  public init(@ViewBuilder content: () -> Content) {}
  public var body: Never { fatalError("a stub is type-checked only") }
}

extension View {
  public func task(_ action: @escaping @MainActor () async -> Void) -> some View { self }
}

@propertyWrapper public struct State<Value> {
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  public var wrappedValue: Value {
    get { fatalError("a stub is type-checked only") }
    nonmutating set {}
  }
}

public protocol NSFetchRequestResult: AnyObject {}

public struct FetchedResults<Result> {
  public var count: Int { 0 }
}

@MainActor @propertyWrapper public struct FetchRequest<Result> {
  public init(sortDescriptors: [Never]) where Result: NSFetchRequestResult {}
  public var wrappedValue: FetchedResults<Result> { FetchedResults() }
}
