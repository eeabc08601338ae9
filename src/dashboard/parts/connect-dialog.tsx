/** "Connect an agent" from anywhere: the same form as for the first tunnel, in a dialog. What it made is forgotten when it is shut. */
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlugConnected } from '@tabler/icons-react';
import { useMay } from '../api/context.tsx';
import { ConnectAgent } from './connect-agent.tsx';
import { OnceModal } from './once.tsx';

/** Nothing for those who may only watch. */
export function ConnectButton() {
  const [opened, { open, close }] = useDisclosure(false);
  if (!useMay('member')) return null;
  return (
    <>
      <Button leftSection={<IconPlugConnected size={16} />} onClick={open}>
        Connect an agent
      </Button>
      <OnceModal opened={opened} onClose={close} title="Connect an agent" size="xl">
        <ConnectAgent keyName="agent" />
      </OnceModal>
    </>
  );
}
