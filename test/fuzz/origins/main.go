// An origin for the HTTP fuzzer on Go's net/http: prints one JSON line per request that it reads.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
)

func main() {
	log.SetOutput(io.Discard)
	var mutex sync.Mutex
	out := json.NewEncoder(os.Stdout)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		_ = out.Encode(map[string]any{"line": r.Method + " " + r.RequestURI, "from": r.Header["X-Forwarded-For"]})
		mutex.Unlock()
		_, _ = io.Copy(io.Discard, r.Body)
	})))
}
