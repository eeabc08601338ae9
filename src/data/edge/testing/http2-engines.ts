/** What speaks HTTP/2 with visitors: what holds for one holds for both. Used by tests alone. */
import type { Http2Engine } from '../../node-settings.ts';

export const HTTP2_ENGINES: readonly Http2Engine[] = ['own', 'node'];
