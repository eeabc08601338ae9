CREATE TABLE `dry_runs` (
	`tunnel_id` text NOT NULL,
	`action_index` integer NOT NULL,
	`refused` integer NOT NULL,
	`last_at` integer NOT NULL,
	`method` text,
	`path` text,
	`client_ip` text NOT NULL,
	`code` text NOT NULL,
	PRIMARY KEY(`tunnel_id`, `action_index`),
	FOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action
);
