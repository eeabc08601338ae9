/** How secrets with at least 128 bits of chance are stored: cookies, reset tokens, device codes. */
import { createHash } from 'node:crypto';

/** SHA-256, hex. */
export function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}
