/// The fuzz targets of `Scripts/fuzz` whose readers need more than one module: FUZZED_READER names the reader.

import Foundation

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ input: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

private let reader = FuzzedReader(
    rawValue: ProcessInfo.processInfo.environment["FUZZED_READER"] ?? "")

guard reader != nil else {
    print("FUZZED_READER is not one of \(FuzzedReader.allCases.map(\.rawValue))")
    exit(2)
}
var count = CommandLine.argc
var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(
    runDriver(&count, &words) { data, size in
        reader?.read(Array(UnsafeBufferPointer(start: data, count: size)))
        return 0
    })
