/** "Connect an agent" from anywhere: the same form as for the first tunnel, in a dialog. What it made is forgotten when it is shut. */
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlugConnected } from '@tabler/icons-react';
import { useMay } from '../api/context.tsx';
import { ConnectAgent } from './connect-agent.tsx';
import { OneTimeSecretModal } from './one-time-secret.tsx';

/** Nothing for those who may only watch. */
export function ConnectButton() {
  const [opened, { open, close }] = useDisclosure(false);
  if (!useMay('member')) return null;
  return (
    <>
      <Button leftSection={<IconPlugConnected size={16} />} onClick={open}>
        Connect an agent
      </Button>
      <OneTimeSecretModal opened={opened} onClose={close} title="Connect an agent" size="xl">
        <ConnectAgent keyName="agent" />
      </OneTimeSecretModal>
    </>
  );
}
