// Suites that cannot import Foundation beside libxml2's headers import the literals alone.
@_exported public import TestLiterals
