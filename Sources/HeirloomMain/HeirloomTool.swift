@main
struct HeirloomTool {
  static func main() {}
}
