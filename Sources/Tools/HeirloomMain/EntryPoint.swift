import Foundation
import HeirloomCommands

@main
struct EntryPoint {
  static func main() {
    ProcessSurroundings.prepare()
    let interruption = Interruption { _exit($0) }
    let console = Console.ofProcess(interruption: interruption)
    SignalListener.start(interruption: interruption)
    exit(HeirloomTool.run(arguments: Array(CommandLine.arguments.dropFirst()), console: console))
  }
}
