/** `/superadmin/instance`: settings of the server that may be changed while it runs, and tests of them. Behind the guard of operator/routes.ts. */
import { z } from '@hono/zod-openapi';
import { type Api, operatorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { newEmail } from '../../core/http/fields/new-account.ts';
import { jsonBody } from '../../core/http/fields/shared.ts';
import type { InstanceTests } from './checks.ts';
import type { InstanceService, InstanceView } from './service.ts';

interface Deps {
  readonly instanceService: InstanceService;
  readonly instanceTests: InstanceTests;
  readonly publicUrl: () => string;
}

const value = z.union([z.string().max(2_048), z.boolean()]).nullable();
const changes = z.record(z.string().max(64), value).openapi({
  description: 'By key of the settings file. `null` restores the default.',
  example: { 'accounts.signup': 'closed', 'mail.from': 'Culvert <culvert@example.com>' },
});

const setting = z.object({
  key: z.string().openapi({ description: 'As in the settings file' }),
  value: value.openapi({
    description: '`null`: not set, or a secret. The URL of a mail server is shown without its password.',
  }),
  is_secret: z.boolean(),
  is_set: z.boolean(),
  source: z.enum(['file', 'dashboard', 'default']).openapi({ description: 'The settings file wins' }),
  locked_by: z.string().nullable().openapi({
    description:
      'The key in the settings file that locks this setting: the same key, or a secret that would be sent to another server. `null`: not locked.',
  }),
  restart_for: z.enum(['visitor_login']).nullable().openapi({
    description:
      'The feature that applies a change only after a restart of the server. `null`: changes apply immediately.',
  }),
});

const instance = z
  .object({
    settings: z.array(setting),
    first_run: z.boolean().openapi({ description: 'No setting was saved yet, and the server has one account' }),
    mail: z.enum(['on', 'off']).openapi({ description: '`off`: codes and links are written to the log of the server' }),
    restart_needed: z.boolean().openapi({ description: 'A saved change needs a restart' }),
    redirect_urls: z
      .object({ google: z.url(), github: z.url() })
      .openapi({ description: 'Redirect URL to register at each identity provider' }),
  })
  .openapi('Instance', {
    example: {
      settings: [
        {
          key: 'accounts.signup',
          value: 'closed',
          is_secret: false,
          is_set: true,
          source: 'dashboard',
          locked_by: null,
          restart_for: null,
        },
      ],
      first_run: false,
      mail: 'off',
      restart_needed: false,
      redirect_urls: {
        google: 'https://culvert.example.com/auth/oauth/google/callback',
        github: 'https://culvert.example.com/auth/oauth/github/callback',
      },
    },
  });

const finding = z
  .object({ ok: z.boolean(), detail: z.string() })
  .openapi('InstanceTest', { example: { ok: true, detail: 'mail.example.com accepted an email to ann@example.com.' } });

const tags = ['superadmin'];
const unsaved = changes.default({}).openapi({ description: 'Changes to test before they are saved' });

export function mountInstance(app: Api, deps: Deps): void {
  mountSettings(app, deps);
  mountTests(app, deps);
}

function mountSettings(app: Api, { instanceService, publicUrl }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/superadmin/instance',
        tags,
        summary: 'List the settings that can be changed while the server runs',
        responses: { 200: json(instance, 'The settings, without secrets') },
      },
      ['forbidden'],
    ),
    (c) => c.json(present(instanceService.view(operatorOf(c)), publicUrl()), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/superadmin/instance',
        tags,
        summary: 'Change settings of the server',
        description:
          'All or none of them. Secrets are stored encrypted and never returned. 409 for a key that the settings file locks.',
        request: { body: jsonBody(z.object({ settings: changes }).openapi('InstanceChanges')) },
        responses: { 200: json(instance, 'The new settings') },
      },
      ['forbidden', 'conflict'],
    ),
    (c) => {
      const { settings } = c.req.valid('json');
      return c.json(present(instanceService.update(operatorOf(c), settings), publicUrl()), 200);
    },
  );
}

function mountTests(app: Api, { instanceTests }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/superadmin/instance/mail/test',
        tags,
        summary: 'Send a test email',
        request: {
          body: jsonBody(
            z
              .object({
                to: newEmail.optional().openapi({ description: "Default: the caller's own address" }),
                settings: unsaved,
              })
              .openapi('TestMail', { example: { to: 'ann@example.com', settings: {} } }),
          ),
        },
        responses: { 200: json(finding, 'Whether the mail server accepted it, and why not') },
      },
      ['forbidden', 'conflict'],
    ),
    async (c) => {
      const { to, settings } = c.req.valid('json');
      return c.json(await instanceTests.mail(operatorOf(c), { to, changes: settings }), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/superadmin/instance/providers/{provider}/test',
        tags,
        summary: 'Test an identity provider',
        description:
          "Reads the issuer's discovery document, and checks id and secret of the client with a code that is none.",
        request: {
          params: z.object({ provider: z.enum(['google', 'github']) }),
          body: jsonBody(z.object({ settings: unsaved }).openapi('TestProvider', { example: { settings: {} } })),
        },
        responses: { 200: json(finding, 'Whether logins with it can work, and why not') },
      },
      ['forbidden', 'conflict'],
    ),
    async (c) => {
      const id = c.req.valid('param').provider;
      return c.json(await instanceTests.provider(operatorOf(c), { id, changes: c.req.valid('json').settings }), 200);
    },
  );
}

function present({ settings, isFirstRun, sendsMail, needsRestart }: InstanceView, publicUrl: string) {
  return {
    settings: settings.map(({ key, value: shown, isSecret, isSet, source, lockedBy, restartFor }) => ({
      key,
      value: shown,
      is_secret: isSecret,
      is_set: isSet,
      source,
      locked_by: lockedBy,
      restart_for: restartFor,
    })),
    first_run: isFirstRun,
    mail: sendsMail ? ('on' as const) : ('off' as const),
    restart_needed: needsRestart,
    redirect_urls: {
      google: `${publicUrl}/auth/oauth/google/callback`,
      github: `${publicUrl}/auth/oauth/github/callback`,
    },
  };
}
