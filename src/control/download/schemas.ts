/** What the download page has, for programs. */
import { z } from '@hono/zod-openapi';
import type { Offer } from './service.ts';
import { installLine, loginLine, SYSTEMS } from './systems.ts';

const file = z.object({
  name: z.string().openapi({ description: 'Get it below /download/' }),
  platform: z.string().nullable().openapi({ description: 'Of an archive; null for installers and lists' }),
  size_bytes: z.int(),
  sha256: z.string(),
});

export const downloads = z
  .object({
    version: z.string().openapi({ description: 'Version of the server; all files are of it' }),
    is_release: z
      .boolean()
      .openapi({ description: 'False: the server was built from source and offers no files, for it can verify none' }),
    install: z
      .object({ linux: z.string().nullable(), macos: z.string().nullable(), windows: z.string().nullable() })
      .openapi({
        description: 'The command that installs Culvert on this system; null: the server has no file for it',
      }),
    login: z.string().openapi({ description: 'The command that logs in to this server' }),
    files: z.array(file),
    missing: z.array(z.string()).openapi({ description: 'Platforms whose archive the server does not have' }),
  })
  .openapi('Downloads', {
    example: {
      version: '1.0.0',
      is_release: true,
      install: {
        linux:
          'curl -fsSL https://culvert.example.com/download/get.sh | sudo sh -s -- --from https://culvert.example.com/download',
        macos: null,
        windows: null,
      },
      login: 'culvert login culvert.example.com',
      files: [
        {
          name: 'culvert-1.0.0-linux-x64.tar.gz',
          platform: 'linux-x64',
          size_bytes: 52_428_800,
          sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        },
      ],
      missing: ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'windows-x64'],
    },
  });

/** URL of the files, without a slash at its end. */
export function downloadBase(publicUrl: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/download`;
}

export function downloadsView(offer: Offer, publicUrl: string): z.infer<typeof downloads> {
  const base = downloadBase(publicUrl);
  const lines = SYSTEMS.map((system) => [
    system,
    offer.installable.includes(system) ? installLine(system, base) : null,
  ]);
  return {
    version: offer.version,
    is_release: offer.isRelease,
    install: Object.fromEntries(lines) as z.infer<typeof downloads>['install'],
    login: loginLine(publicUrl),
    files: offer.files.map(({ name, platform, size, sum }) => ({ name, platform, size_bytes: size, sha256: sum })),
    missing: [...offer.missing],
  };
}
