/**
 * A chosen label under the edge's domain: the same rule for projects and for reserved subdomains.
 */
import { z } from '@hono/zod-openapi';
import { LABEL } from '../../rules/labels.ts';

/** 1..63 of `[a-z0-9-]`, no dash at either end. Upper case is refused, not folded: one name has one spelling. */
export const label = z.string().regex(LABEL, '1 to 63 characters of a-z, 0-9 and dash, no dash at either end');
