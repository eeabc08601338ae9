/** The access log on standard output (`log.access.path = "-"`). A reader that has left, or is slow, costs lines and nothing else. */
import type { AccessSink } from './access-writer.ts';

export function standardOutput(output: NodeJS.WritableStream): AccessSink {
  return {
    append: (bytes) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      output.write(bytes, (error) => (error === null || error === undefined ? resolve() : reject(error)));
      return promise;
    },
    failedRotations: 0,
    reopen: () => undefined,
    // Others write to it too.
    close: async () => undefined,
  };
}
