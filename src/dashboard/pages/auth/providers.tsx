/** The login options of this server, and the identity providers among them. Where the browser comes back to is in no address: the server keeps it. */
import { Button, Divider, Stack } from '@mantine/core';
import { IconBrandGithub } from '@tabler/icons-react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';

type Provider = Schemas['LoginOptions']['providers'][number];

interface ProvidersProps {
  /** Undefined while not known. */
  readonly providers: readonly Provider[] | undefined;
  /** Path of this server, with all that the page there needs. */
  readonly returnTo: string;
}

export function Providers({ providers, returnTo }: ProvidersProps) {
  if (providers === undefined || providers.length === 0) return null;
  return (
    <Stack gap="xs">
      <Divider label="or" />
      {providers.map((provider) => (
        <ProviderButton key={provider.id} provider={provider} returnTo={returnTo} />
      ))}
    </Stack>
  );
}

interface ProviderButtonProps {
  readonly provider: Provider;
  readonly returnTo: string;
}

function ProviderButton({ provider: { id, name }, returnTo }: ProviderButtonProps) {
  const { client } = useApi();
  const leave = useAction({
    run: () =>
      answered(
        client.POST('/auth/oauth/{provider}/start', {
          params: { path: { provider: id } },
          body: { return_to: returnTo },
        }),
      ),
    onDone: ({ url }) => location.assign(url),
  });
  return (
    <Button
      variant="default"
      size="md"
      loading={leave.isPending}
      onClick={() => leave.mutate()}
      leftSection={id === 'github' ? <IconBrandGithub size={18} /> : undefined}
    >
      {`Log in with ${name}`}
    </Button>
  );
}
