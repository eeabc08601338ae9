/** The libraries that the loader opens for this file. */
export function neededLibraries(file: Buffer): string[];

/**
 * Changes `file` in place. False when it does not need libatomic.
 * @throws when the file has another shape than the one that was studied; `file` is as it was then.
 */
export function removeLibatomic(file: Buffer): boolean;
