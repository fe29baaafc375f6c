@main
struct BenchmarkTool {
  static func main() {}
}
