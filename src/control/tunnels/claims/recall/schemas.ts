/** The command that brings a tunnel back, as the API shows it. */
import { z } from '@hono/zod-openapi';
import type { StartCommand } from './service.ts';

export const START_COMMAND = {
  words: ['culvert', 'http', '3000', '--subdomain', 'shop', '--host-header', 'rewrite'],
  key: { name: 'ci', nonce: '5f2b1c9e8d7a4f60b3c2d1e0f9a8b7c6', is_login: false, is_valid: true },
};

export const startCommand = z
  .object({
    words: z.array(z.string()).openapi({
      description:
        'Arguments, `culvert` first, unquoted. Add `--server` with the URL of the API. They include the target and the flags of the last agent, as the user typed them. Paths are relative to the working folder of that agent. Secrets, `--proxy` and flags for output are left out. If the last agent sent no command, the server makes one from the tunnel.',
    }),
    key: z
      .object({
        name: z.string(),
        nonce: z.string(),
        is_login: z.boolean().openapi({ description: 'true: the login of a machine (`culvert login`)' }),
        is_valid: z.boolean().openapi({ description: 'false: revoked, expired or rotated' }),
      })
      .nullable()
      .openapi({ description: 'Access key of the last agent, without its secret; null: none, or deleted' }),
  })
  .nullable()
  .openapi('StartCommand', {
    description: 'Command that brings the tunnel back; null: your role cannot publish tunnels',
    example: START_COMMAND,
  });

export function presentStartCommand(command: StartCommand | null): z.input<typeof startCommand> {
  if (command === null) return null;
  const { words, key } = command;
  const shown =
    key === null ? null : { name: key.name, nonce: key.nonce, is_login: key.isLogin, is_valid: key.isValid };
  return { words: [...words], key: shown };
}
