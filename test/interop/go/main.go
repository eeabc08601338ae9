// The peer of go.test.ts: hashicorp's yamux over plain TCP, as server or as client.
//
//	yamux-peer -role server|client -addr host:port [-window bytes] [-backlog n] [-keepalive ms] -mode MODE
//
// The side that listens prints "listening PORT". The accepting side of streams serves by the stream's first byte:
//
//	e  echo until EOF, then close            r  read 1000 bytes, then close without reading on (early close)
//	s  read slowly: 64 KB, then a pause      d  8 bytes big-endian follow: send that many pattern bytes, close
//	h  count until EOF, answer the count as text, close (half-close)
//
// Streams that it opens itself end by length: this version reads EOF once it has closed its own direction. It sends e, d, and
//
//	u  8 bytes big-endian follow: so many bytes come, answer their count as text
//
// A client opens streams by its mode: echo (many, random sizes), download, upload, ping, idle, accept (serves only).
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

var (
	role      = flag.String("role", "server", "yamux role; a server listens, a client dials")
	addr      = flag.String("addr", "127.0.0.1:0", "where to listen or dial")
	window    = flag.Uint("window", 256*1024, "MaxStreamWindowSize")
	backlog   = flag.Int("backlog", 256, "AcceptBacklog")
	keepalive = flag.Int("keepalive", 0, "milliseconds between keepalives, 0 for none")
	mode      = flag.String("mode", "accept", "what to do")
	count     = flag.Int("count", 50, "streams of mode echo")
	size      = flag.Int64("size", 1<<20, "bytes of each transfer")
	pauseMs   = flag.Int("pause", 20, "pause of the slow reader")
	hold      = flag.Int("hold", 0, "milliseconds before the first accept")
)

// pattern is a byte that tells where it stands: a loss, a repeat or a swap shows.
func pattern(at int64) byte { return byte(at*7 + at>>8*13 + at>>16*31) }

func fill(to []byte, at int64) {
	for i := range to {
		to[i] = pattern(at + int64(i))
	}
}

func sendPattern(to io.Writer, total int64) error {
	buf := make([]byte, 128*1024)
	for at := int64(0); at < total; {
		n := int64(len(buf))
		if n > total-at {
			n = total - at
		}
		fill(buf[:n], at)
		if _, err := to.Write(buf[:n]); err != nil {
			return err
		}
		at += n
	}
	return nil
}

func checkPattern(from io.Reader, total int64) error {
	buf := make([]byte, 128*1024)
	at := int64(0)
	for {
		n, err := from.Read(buf)
		for i := 0; i < n; i++ {
			if buf[i] != pattern(at+int64(i)) {
				return fmt.Errorf("byte %d is wrong", at+int64(i))
			}
		}
		at += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if at != total {
		return fmt.Errorf("%d bytes of %d", at, total)
	}
	return nil
}

func serve(s *yamux.Stream) {
	defer s.Close()
	kind := make([]byte, 1)
	if _, err := io.ReadFull(s, kind); err != nil {
		return
	}
	switch kind[0] {
	case 'e':
		io.Copy(s, s)
	case 'h':
		n, _ := io.Copy(io.Discard, s)
		fmt.Fprintf(s, "%d", n)
	case 'r':
		io.ReadFull(s, make([]byte, 1000))
		s.Write([]byte("enough"))
	case 's':
		buf := make([]byte, 64*1024)
		total := 0
		for {
			n, err := s.Read(buf)
			total += n
			if err != nil {
				break
			}
			time.Sleep(time.Duration(*pauseMs) * time.Millisecond)
		}
		fmt.Fprintf(s, "%d", total)
	case 'd':
		head := make([]byte, 8)
		if _, err := io.ReadFull(s, head); err != nil {
			return
		}
		sendPattern(s, int64(binary.BigEndian.Uint64(head)))
	}
}

func accept(session *yamux.Session) {
	time.Sleep(time.Duration(*hold) * time.Millisecond)
	for {
		stream, err := session.AcceptStream()
		if err != nil {
			return
		}
		go serve(stream)
	}
}

func must(err error) {
	if err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
}

func echo(session *yamux.Session) error {
	var all sync.WaitGroup
	failures := make(chan error, *count)
	for i := 0; i < *count; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			body := make([]byte, rand.Intn(300_000))
			rand.Read(body)
			stream, err := session.OpenStream()
			if err != nil {
				failures <- err
				return
			}
			go func() {
				for at := 0; at < len(body); {
					n := 1 + rand.Intn(70_000)
					if n > len(body)-at {
						n = len(body) - at
					}
					if _, err := stream.Write(body[at : at+n]); err != nil {
						return
					}
					at += n
				}
			}()
			// This version reads EOF once it has closed its own direction: it closes after the last byte came back.
			got := make([]byte, len(body))
			_, err = io.ReadFull(stream, got)
			stream.Close()
			if err != nil {
				failures <- fmt.Errorf("stream %d: %v", i, err)
			} else if !bytes.Equal(got, body) {
				failures <- fmt.Errorf("stream %d: %d bytes came back of %d", i, len(got), len(body))
			}
		}(i)
	}
	all.Wait()
	close(failures)
	return <-failures
}

func download(session *yamux.Session) error {
	stream, err := session.OpenStream()
	if err != nil {
		return err
	}
	head := make([]byte, 9)
	head[0] = 'd'
	binary.BigEndian.PutUint64(head[1:], uint64(*size))
	stream.Write(head)
	defer stream.Close()
	return checkPattern(stream, *size)
}

func upload(session *yamux.Session) error {
	stream, err := session.OpenStream()
	if err != nil {
		return err
	}
	head := make([]byte, 9)
	head[0] = 'u'
	binary.BigEndian.PutUint64(head[1:], uint64(*size))
	stream.Write(head)
	if err := sendPattern(stream, *size); err != nil {
		return err
	}
	defer stream.Close()
	got, err := io.ReadAll(stream)
	if err == nil && string(got) != fmt.Sprint(*size) {
		err = fmt.Errorf("the other side counted %s of %d", got, *size)
	}
	return err
}

func main() {
	flag.Parse()
	config := yamux.DefaultConfig()
	config.MaxStreamWindowSize = uint32(*window)
	config.AcceptBacklog = *backlog
	config.EnableKeepAlive = *keepalive > 0
	if *keepalive > 0 {
		config.KeepAliveInterval = time.Duration(*keepalive) * time.Millisecond
	}
	config.LogOutput = nil
	config.Logger = log.New(os.Stderr, "", 0)

	var session *yamux.Session
	if *role == "server" {
		listener, err := net.Listen("tcp", *addr)
		must(err)
		fmt.Println("listening", listener.Addr().(*net.TCPAddr).Port)
		conn, err := listener.Accept()
		must(err)
		session, err = yamux.Server(conn, config)
		must(err)
	} else {
		conn, err := net.Dial("tcp", *addr)
		must(err)
		session, err = yamux.Client(conn, config)
		must(err)
	}
	go accept(session)
	switch *mode {
	case "echo":
		must(echo(session))
	case "download":
		must(download(session))
	case "upload":
		must(upload(session))
	case "ping":
		for i := 0; i < 20; i++ {
			_, err := session.Ping()
			must(err)
		}
	case "goaway":
		must(session.GoAway())
	}
	if *mode != "accept" {
		fmt.Println("ok")
	}
	// One word per line on stdin: what the test wants to know or have done.
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		switch orders.Text() {
		case "streams":
			// What closed them may still be under way: a stream that stays is one that stays for 5 seconds.
			for i := 0; i < 500 && session.NumStreams() > 0; i++ {
				time.Sleep(10 * time.Millisecond)
			}
			fmt.Println("streams", session.NumStreams())
		case "goaway":
			must(session.GoAway())
			fmt.Println("gone")
		case "open":
			_, err := session.OpenStream()
			fmt.Println("open", err)
		case "closed":
			select {
			case <-session.CloseChan():
				fmt.Println("closed true")
			case <-time.After(5 * time.Second):
				fmt.Println("closed false")
			}
		}
	}
	session.Close()
}
