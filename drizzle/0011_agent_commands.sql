CREATE TABLE `agent_commands` (
	`tunnel_id` text PRIMARY KEY NOT NULL,
	`command` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action
);
