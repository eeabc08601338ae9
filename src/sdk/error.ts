/** The one error that the functions of the package reject with. */
import type { ErrorCode } from './types.ts';

export class CulvertError extends Error {
  override readonly name = 'CulvertError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
