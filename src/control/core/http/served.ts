/** How the document describes what browsers get: files and redirects. */
import { z } from '@hono/zod-openapi';

export function fileOf(type: string) {
  return { description: 'A file for a browser', content: { [type]: { schema: z.string() } } };
}

/** Where a path has files of several types. */
export const ANY_TYPE = '*/*';

const header = (description: string) => ({ description, schema: { type: 'string' as const } });

export const ETAG = { ETag: header('ETag of this list') };

export function redirectTo(description: string) {
  return { description, headers: { Location: header('URL to which the browser is redirected') } };
}
