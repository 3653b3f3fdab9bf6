package import Mapping

/// The effect of a merge on an object's links.
package enum LinkDelta {
    /// The part of the list that changed.
    case links(old: LinkSpan, new: LinkSpan)
    /// The objects whose to-one relationship no longer refers to the owner.
    case detached([[StoredValue]], EntityLayout.ToOne)
}
