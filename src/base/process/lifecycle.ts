/**
 * A stack of closers, run in reverse. Used by code that starts several things in order, so that
 * a failure half way through a start undoes exactly what was done.
 */
export type Closer = () => void | Promise<void>;

export class Lifecycle {
  readonly #closers: Array<{ name: string; close: Closer }> = [];
  #closing: Promise<void> | undefined;

  /** Registers `close`, to run when everything opened after it is closed. */
  onClose(name: string, close: Closer): void {
    this.#closers.push({ name, close });
  }

  /** Closes everything, last opened first. A closer that fails does not stop the others; the failures come as one AggregateError. May be called twice. */
  close(): Promise<void> {
    this.#closing ??= this.#run();
    return this.#closing;
  }

  async #run(): Promise<void> {
    const failures: Error[] = [];
    for (const { name, close } of this.#closers.reverse()) {
      try {
        await close();
      } catch (cause) {
        failures.push(new Error(`closing ${name} failed`, { cause }));
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map((f) => f.message).join('; '));
  }
}
