/**
 * What stands in the place of a page that can't be drawn: its code could not be fetched (a server that was upgraded has other files), or it failed.
 * Without it React takes the whole dashboard away. Another page is tried anew.
 */
import { Button, Group } from '@mantine/core';
import { IconPlugX } from '@tabler/icons-react';
import { Component, type ReactNode } from 'react';
import { Empty } from './parts/empty.tsx';
import { Page } from './parts/page.tsx';

interface BoundaryProps {
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly failed: boolean;
}

/** Give it a key that changes with the address: then going elsewhere is the way out. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failed: false };

  static getDerivedStateFromError(): BoundaryState {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? <Failed again={() => this.setState({ failed: false })} /> : this.props.children;
  }
}

function Failed({ again }: { readonly again: () => void }) {
  return (
    <Page title="This page can't be shown">
      <Empty
        icon={IconPlugX}
        title="Its code could not be fetched, or it failed"
        action={
          <Group gap="xs">
            <Button onClick={again}>Try again</Button>
            <Button variant="default" onClick={() => location.reload()}>
              Reload
            </Button>
          </Group>
        }
      >
        After an upgrade of the server a page that was open has to be loaded anew. If it fails again, the browser&apos;s
        console says why.
      </Empty>
    </Page>
  );
}
