/** A wait with an end, for a peer that may not answer. */

/**
 * True when `work` is done within `ms`; rejects as it does. Work that is late goes on unheard. The wait keeps the process up only when told to.
 * What was done while the process stood still (a busy machine, a paused virtual one) is not late: Node calls timers that have passed before it
 * looks at what has arrived, so the end waits until it has looked.
 */
export async function within(
  work: Promise<unknown>,
  ms: number,
  options: { readonly holdsProcess?: boolean } = {},
): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => setImmediate(() => late.resolve(false)), ms);
  if (options.holdsProcess !== true) timer.unref();
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
