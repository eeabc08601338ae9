CREATE TABLE `network_devices` (
	`id` text PRIMARY KEY NOT NULL,
	`network_id` text NOT NULL,
	`org_id` text NOT NULL,
	`name` text NOT NULL,
	`public_key` text NOT NULL,
	`host` integer NOT NULL,
	`extra_allowed_ips` text NOT NULL,
	`expires_at` integer,
	`expired` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`last_handshake_at` integer,
	`last_seen_at` integer,
	`endpoint` text,
	`bytes_in` integer DEFAULT 0 NOT NULL,
	`bytes_out` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`network_id`) REFERENCES `private_networks`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `network_devices_host` ON `network_devices` (`network_id`,`host`);--> statement-breakpoint
CREATE UNIQUE INDEX `network_devices_key` ON `network_devices` (`network_id`,`public_key`);--> statement-breakpoint
CREATE INDEX `network_devices_org` ON `network_devices` (`org_id`,`network_id`,`expires_at`);--> statement-breakpoint
CREATE INDEX `network_devices_due` ON `network_devices` (`expires_at`) WHERE expired = 0 AND expires_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `private_networks` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`name` text NOT NULL,
	`cidr` text NOT NULL,
	`server_public_key` text,
	`server_listen_port` integer,
	`reserved_udp_port` integer,
	`self_endpoint` text,
	`dns` text NOT NULL,
	`extra_allowed_ips` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`bytes_in` integer DEFAULT 0 NOT NULL,
	`bytes_out` integer DEFAULT 0 NOT NULL,
	`packets_in` integer DEFAULT 0 NOT NULL,
	`packets_out` integer DEFAULT 0 NOT NULL,
	`device_lost_at` integer,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `private_networks_org_name` ON `private_networks` (`org_id`,`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `private_networks_port` ON `private_networks` (`reserved_udp_port`) WHERE reserved_udp_port IS NOT NULL;--> statement-breakpoint
CREATE TABLE `resting_udp_ports` (
	`port` integer PRIMARY KEY NOT NULL,
	`freed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `certificates_expires` ON `certificates` (`expires_at`);