/** The keys that open tunnels in one project alone. */
import { Button, Checkbox, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useMay } from '../../api/context.tsx';
import type { Token } from '../../api/types.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { nowSeconds, useTokens } from '../keys/key-query.ts';
import { isLive } from '../keys/key-state.ts';
import { KeyTable } from '../keys/key-table.tsx';
import { NewKey } from '../keys/new-key.tsx';

export function ProjectKeys({ slug }: { readonly slug: string }) {
  const tokens = useTokens();
  const mayMint = useMay('member');
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <Panel
      title="Keys"
      about="They open tunnels in this project and in no other."
      actions={
        mayMint && (
          <Button leftSection={<IconPlus size={16} />} size="sm" onClick={open}>
            New key
          </Button>
        )
      }
    >
      <Loaded query={tokens} lines={2}>
        {(all) => <Listed slug={slug} all={all} />}
      </Loaded>
      <NewKey opened={opened} onClose={close} project={slug} />
    </Panel>
  );
}

function Listed({ slug, all }: { readonly slug: string; readonly all: readonly Token[] }) {
  const [withEnded, setWithEnded] = useState(false);
  const own = all.filter(({ projectSlug }) => projectSlug === slug);
  const live = own.filter((token) => isLive(token, nowSeconds()));
  const shown = withEnded ? own : live;
  return (
    <Stack gap="sm">
      {shown.length > 0 ? (
        <KeyTable label="Keys of the project" tokens={shown} all={all} />
      ) : (
        <Text size="sm" c="dimmed">
          None that is live.
        </Text>
      )}
      {own.length > live.length && (
        <Checkbox
          label={`Show the ${own.length - live.length} that ended, too`}
          checked={withEnded}
          onChange={(event) => setWithEnded(event.currentTarget.checked)}
        />
      )}
    </Stack>
  );
}
