/** Logs that leave the server: `[log.access]` and `[export.otlp]`. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { count, httpUrlOrNull, pathOrNull, span } from './fields.ts';

/** What the access log can leave out. */
const MASKS = ['query', 'address', 'user_agent', 'referer'] as const;

export const accessLog = z.strictObject({
  // Off: it names every visitor, and grows as fast as they come. `-` is for containers, whose runtime keeps it.
  path: z
    .string()
    .transform((text) => (text === '' ? null : text === '-' ? '-' : resolve(text)))
    .prefault(''),
  // One object per line has every field; combined is what tools for Apache and nginx read.
  format: z.enum(['json', 'combined']).prefault('json'),
  // All of them: a share is for servers whose disk is the bottleneck.
  sample: z.number().gt(0).max(1).prefault(1),
  // Whole lines find more faults; what the law of a place asks for is the operator's to say.
  mask: z.array(z.enum(MASKS)).max(MASKS.length).prefault([]),
  // A quarter of a million lines. 0: logrotate or another program rotates, and sends SIGHUP.
  rotate_mb: count(0, 1_000_000).prefault(100),
  // A file a day. "": by size alone.
  rotate_every: z
    .literal('')
    .transform(() => null)
    .or(span)
    .prefault('24h'),
  // A week of days, or 700 MB.
  keep: count(0, 10_000).prefault(7),
});

export const otlp = z.strictObject({
  // Off: no collector is right by default. Base URL, as OTEL_EXPORTER_OTLP_ENDPOINT: /v1/logs and /v1/metrics come behind it.
  endpoint: httpUrlOrNull.prefault(''),
  // A file and not a value: settings are part of a backup, and headers hold the collector's key.
  headers_file: pathOrNull.prefault(''),
  signals: z
    .array(z.enum(['logs', 'metrics']))
    .min(1)
    .max(2)
    .prefault(['logs', 'metrics']),
});
