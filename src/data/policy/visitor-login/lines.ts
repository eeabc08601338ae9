/** What a service gets in a head of what the edge knows of visitors: who it is, behind a visitor gate, and the Cookie line without what is the edge's. */
import type { Head } from '../../../http1/head.ts';
import type { HeaderRule } from '../header-rule.ts';
import { withoutVisitorCookies } from './cookies.ts';

const NOTHING = Buffer.alloc(0);

/** The lines that are added to a parsed head, those of `rule` first; what they stand in for is marked as left out. */
export function visitorLines(
  bytes: Buffer,
  head: Head,
  of: { rule: HeaderRule | null; visitor: Buffer | null },
): Buffer {
  const cookies = withoutVisitorCookies(bytes, head);
  return Buffer.concat([of.rule?.lines ?? NOTHING, cookies, of.visitor ?? NOTHING]);
}
