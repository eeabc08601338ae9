/**
 * The command that runs an agent, as far as it brings a tunnel back: part of a claim. The server keeps it and shows it at the tunnel; it never runs it.
 * No secret is in it: files are named and not read, and passwords are never flags. A proxy may hold one, so `--proxy` is left out.
 */
import { z } from 'zod';

export const AGENT_COMMANDS = ['http', 'https', 'tcp', 'files', 'start'] as const;

/** Flags that are sent, by what they take. Those that only print (`--json`, `--url-file`) are not among them. */
const TEXTS = [
  ...(['config', 'subdomain', 'project', 'domain', 'remote-port', 'ttl'] as const),
  ...(['basic-auth', 'basic-auth-file', 'policy', 'webhook-verify', 'webhook-secret-file'] as const),
  ...(['host-header', 'path-prefix', 'upstream-ca', 'upstream-sni', 'upstream-cert', 'upstream-key'] as const),
  ...(['upstream-protocol', 'upstream-connect-timeout', 'upstream-keep-alive-timeout'] as const),
  ...(['token-file', 'ca-file', 'inspect-port'] as const),
] as const;
const LISTS = ['route', 'allow-cidr', 'deny-cidr', 'visitor-login'] as const;
const SWITCHES = ['verify-tls', 'proxy-protocol', 'spa', 'no-listing', 'no-inspect'] as const;

export const COMMAND_FLAGS = { texts: TEXTS, lists: LISTS, switches: SWITCHES } as const;

/** JSON text of one command. A longer one is not sent, and not kept. */
export const MAX_COMMAND_BYTES = 4_096;

/**
 * Users paste it into a terminal: no control characters, no direction marks, which show another order than there is, and no curved single quotes,
 * which end a text in PowerShell.
 */
const word = z
  .string()
  .max(1_024)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u2018\u2019\u201a\u201b]*$/u);

/** Strict: a server shows no fields that it does not know. */
export const agentCommand = z
  .strictObject({
    name: z.enum(AGENT_COMMANDS),
    /** The target; of `start` the tunnel's name in the file. Never read as a flag. */
    target: word.refine((text) => text !== '' && !text.startsWith('-')),
    texts: z.partialRecord(z.enum(TEXTS), word).optional(),
    lists: z.partialRecord(z.enum(LISTS), z.array(word).min(1).max(100)).optional(),
    switches: z.array(z.enum(SWITCHES)).max(SWITCHES.length).optional(),
  })
  .refine((command) => Buffer.byteLength(JSON.stringify(command)) <= MAX_COMMAND_BYTES);

export type AgentCommand = z.infer<typeof agentCommand>;
