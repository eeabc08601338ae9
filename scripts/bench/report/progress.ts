/**
 * The lines on standard error that show what the benchmark is doing. Results go to standard output, so that they can be
 * kept with a redirection.
 */

/** Prints one line with the time of day. */
export function say(text: string): void {
  process.stderr.write(`${new Date().toTimeString().slice(0, 8)} ${text}\n`);
}
