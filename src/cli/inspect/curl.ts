/** `culvert inspect ID --curl`: the command on standard output, missing credentials on standard error. */
import { z } from 'zod';
import type { Asked } from '../client/api-command.ts';
import { print, writeLine } from '../terminal/io.ts';
import { harmlessLines } from '../terminal/paint.ts';

/** Fields whose values an export masks; a `Proxy-Authorization` is in no command. */
const MASKED = /^(authorization|cookie)$/i;

const made = z.looseObject({
  request_header_list: z.array(z.looseObject({ name: z.string() })),
  trace: z.looseObject({ steps: z.array(z.looseObject({ step: z.string() })) }),
});

/** `path`: of the record. */
export async function showCurl(asked: Asked, path: string): Promise<void> {
  const { io, flags } = asked;
  const hasSecrets = flags['secrets'] === true;
  // For a shell: the very bytes. The server has escaped what a terminal would obey; an older one only in bodies.
  const bytes = await asked.bytes(`${path}/curl${hasSecrets ? '?secrets=true' : ''}`);
  const command = Buffer.from(bytes, 'latin1').toString('utf8').trimEnd();
  const lacks = lackOf(made.parse(await asked.call('GET', path)), hasSecrets);
  await print(io.stdout, io.stdout.isTTY === true ? harmlessLines(command) : command);
  for (const line of lacks) writeLine(io.stderr, line);
}

function lackOf({ request_header_list: fields, trace }: z.output<typeof made>, hasSecrets: boolean): string[] {
  const isMasked = !hasSecrets && fields.some(({ name }) => MASKED.test(name));
  const steps = new Set(trace.steps.map(({ step }) => step));
  return [
    ...(isMasked ? ['Credentials and cookies are masked (***). --secrets includes them.'] : []),
    ...(steps.has('basic_gate')
      ? ['The tunnel requires a password, which is not recorded. Add -u NAME:PASSWORD to the command.']
      : []),
    ...(steps.has('visitor_gate')
      ? ['The tunnel requires a visitor login, which is not recorded. The edge will reject the command.']
      : []),
  ];
}
