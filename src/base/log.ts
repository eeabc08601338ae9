/**
 * What every part of Culvert may say: an interface only. The real writer (pino) is made in cli/terminal/log.ts and passed down.
 * Levels: error = an operator must act, warn = something was refused or retried, info = state changes, debug = per event.
 */
export interface Logger {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  child(fields: object): Logger;
}

const ignore = (): void => {};

/** A logger that says nothing: for tests and benchmarks. */
export const silentLog: Logger = { error: ignore, warn: ignore, info: ignore, debug: ignore, child: () => silentLog };
