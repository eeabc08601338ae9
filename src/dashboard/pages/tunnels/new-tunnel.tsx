/** "New tunnel": a name is reserved, and its page then says how to connect an agent. */
import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { useMay } from '../../api/context.tsx';
import { NewTunnelForm } from './new-tunnel-form.tsx';

/** Nothing for those who may only watch. */
export function NewTunnel() {
  const [opened, { open, close }] = useDisclosure(false);
  const [, navigate] = useLocation();
  if (!useMay('member')) return null;
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        New tunnel
      </Button>
      <Modal opened={opened} onClose={close} title="New tunnel" size="lg">
        <NewTunnelForm onMade={({ id }) => navigate(`/tunnels/${id}`)} />
      </Modal>
    </>
  );
}
